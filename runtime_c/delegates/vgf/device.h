/* The Vulkan device that runs graphs: found, opened and shared by the instances of a process.
 *
 * libvulkan is opened while running, so nothing links with it. A device that has the extensions
 * itself comes first; only where none has, Arm's emulation layers are put in, graph above tensor.
 */
#ifndef PTE_DELEGATES_VGF_DEVICE_H
#define PTE_DELEGATES_VGF_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "delegates/payload.h"
#include "delegates/vgf/vk_arm.h"

#define PTE_VGF_INSTANCE_CALLS(X)                                                                  \
  X(vkDestroyInstance)                                                                             \
  X(vkEnumeratePhysicalDevices)                                                                    \
  X(vkEnumerateDeviceExtensionProperties)                                                          \
  X(vkGetPhysicalDeviceQueueFamilyProperties)                                                      \
  X(vkGetPhysicalDeviceMemoryProperties)                                                           \
  X(vkGetPhysicalDeviceFeatures2)                                                                  \
  X(vkCreateDevice)                                                                                \
  X(vkDestroyDevice)                                                                               \
  X(vkGetDeviceProcAddr)

#define PTE_VGF_DEVICE_CALLS(X)                                                                    \
  X(vkGetDeviceQueue)                                                                              \
  X(vkAllocateMemory)                                                                              \
  X(vkFreeMemory)                                                                                  \
  X(vkMapMemory)                                                                                   \
  X(vkCreateDescriptorSetLayout)                                                                   \
  X(vkDestroyDescriptorSetLayout)                                                                  \
  X(vkCreatePipelineLayout)                                                                        \
  X(vkDestroyPipelineLayout)                                                                       \
  X(vkCreateShaderModule)                                                                          \
  X(vkDestroyShaderModule)                                                                         \
  X(vkDestroyPipeline)                                                                             \
  X(vkCreateDescriptorPool)                                                                        \
  X(vkDestroyDescriptorPool)                                                                       \
  X(vkAllocateDescriptorSets)                                                                      \
  X(vkUpdateDescriptorSets)                                                                        \
  X(vkCreateCommandPool)                                                                           \
  X(vkDestroyCommandPool)                                                                          \
  X(vkAllocateCommandBuffers)                                                                      \
  X(vkBeginCommandBuffer)                                                                          \
  X(vkEndCommandBuffer)                                                                            \
  X(vkCmdBindPipeline)                                                                             \
  X(vkCmdBindDescriptorSets)                                                                       \
  X(vkCmdPipelineBarrier2)                                                                         \
  X(vkQueueSubmit)                                                                                 \
  X(vkCreateFence)                                                                                 \
  X(vkDestroyFence)                                                                                \
  X(vkResetFences)                                                                                 \
  X(vkWaitForFences)                                                                               \
  X(vkCreateTensorARM)                                                                             \
  X(vkDestroyTensorARM)                                                                            \
  X(vkCreateTensorViewARM)                                                                         \
  X(vkDestroyTensorViewARM)                                                                        \
  X(vkGetTensorMemoryRequirementsARM)                                                              \
  X(vkBindTensorMemoryARM)                                                                         \
  X(vkCreateDataGraphPipelinesARM)                                                                 \
  X(vkCreateDataGraphPipelineSessionARM)                                                           \
  X(vkDestroyDataGraphPipelineSessionARM)                                                          \
  X(vkGetDataGraphPipelineSessionBindPointRequirementsARM)                                         \
  X(vkGetDataGraphPipelineSessionMemoryRequirementsARM)                                            \
  X(vkBindDataGraphPipelineSessionMemoryARM)                                                       \
  X(vkCmdDispatchDataGraphARM)

/* One a process: the delegate's `self`. Opened by the first who asks and kept until the process
 * ends, because opening the emulated device takes seconds. A failure is not kept. */
typedef struct pte_vgf_device {
  pthread_mutex_t lock; /* around every Vulkan call: a queue takes one thread at a time */
  bool is_open;
  pid_t owner; /* that opened it: of no use in a forked child */
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  uint32_t family;
  VkPhysicalDeviceMemoryProperties memory;
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
#define PTE_VGF_MEMBER(name) PFN_##name name;
  PTE_VGF_INSTANCE_CALLS(PTE_VGF_MEMBER)
  PTE_VGF_DEVICE_CALLS(PTE_VGF_MEMBER)
#undef PTE_VGF_MEMBER
} pte_vgf_device;

/* Opens the device unless it is open; the caller holds the lock. PTE_DELEGATE: no Vulkan, or no
 * device with the extensions; `error` says what to install. */
PTE_CHECKED pte_status pte_vgf_device_open(pte_vgf_device *v, pte_error *error);

/* Whether this is a forked child of the process that opened it: Vulkan must not be called there,
 * nor the lock taken, which a thread that is not here may hold. */
bool pte_vgf_device_is_lost(const pte_vgf_device *v);

#endif
